/**
 * A value that is loaded at its first use. A failed load is not kept: with a passing failure, such as too many open
 * files, the next use tries again.
 */
export class Lazy<T> {
  readonly #load: () => Promise<T>;
  #value: Promise<T> | undefined;
  #hasFailed = false;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** True while the last load has failed. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get(): Promise<T> {
    this.#value ??= this.#load().then(
      (value) => {
        this.#hasFailed = false;
        return value;
      },
      (error) => {
        this.#value = undefined;
        this.#hasFailed = true;
        throw error;
      },
    );
    return this.#value;
  }

  /** Returns the value only if it was asked for. */
  async peek(): Promise<T | undefined> {
    return this.#value?.catch(() => undefined);
  }

  /** Forgets the value and returns it if it was asked for. */
  take(): Promise<T | undefined> {
    const value = this.peek();
    this.#value = undefined;
    return value;
  }
}
