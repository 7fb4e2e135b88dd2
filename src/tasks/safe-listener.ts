/** Wraps a listener for background work so that its exceptions are ignored. */
export function safeListener<T>(listener: ((news: T) => void) | undefined): (news: T) => void {
  return (news) => {
    try {
      listener?.(news);
    } catch {
      // The failed listener is the only receiver there is.
    }
  };
}
