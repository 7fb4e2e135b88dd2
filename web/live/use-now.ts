import { useEffect, useState } from "preact/hooks";

/** The present time, which moves on while `isRunning`, for times that pass before the reader's eyes. */
export function useNow(isRunning: boolean, stepMs = 1_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    setNow(Date.now());
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, stepMs);
    return () => clearInterval(timer);
  }, [isRunning, stepMs]);
  return now;
}
