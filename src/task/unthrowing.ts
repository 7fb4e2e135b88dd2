/** A listener as work that nobody waits for may call it: one that throws is not heard of again, and ends no process. */
export function unthrowing<T>(listener: ((news: T) => void) | undefined): (news: T) => void {
  return (news) => {
    try {
      listener?.(news);
    } catch {
      // Whoever was to be told cannot be.
    }
  };
}
