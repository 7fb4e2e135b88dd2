/** What an action returned and how long it took. */
export interface Timed<T> {
  readonly value: T;
  readonly ms: number;
}

/** Carries out an action and times it. */
export async function timed<T>(action: () => Promise<T>): Promise<Timed<T>> {
  const startedMs = performance.now();
  const value = await action();
  return { value, ms: performance.now() - startedMs };
}
