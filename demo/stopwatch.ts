/** Result and duration of an action. */
export interface Timed<T> {
  readonly value: T;
  readonly ms: number;
}

export async function timed<T>(action: () => Promise<T>): Promise<Timed<T>> {
  const startedMs = performance.now();
  const value = await action();
  return { value, ms: performance.now() - startedMs };
}
