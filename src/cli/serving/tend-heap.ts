import { setFlagsFromString } from "node:v8";

/**
 * Heap growth before the next V8 collection, in percent of live data. Bodies are allocated outside the heap, and V8 by
 * default runs a full collection when enough of them have come and gone: at every sixth request of a megabyte. Higher
 * growth delays it. With many concurrent requests, memory matters more than time.
 */
const GROWTH = { few: 150, many: 40 };
const MANY = 200;
const LOOK_MS = 250;

/** Adjusts V8's heap growth to the number of requests in flight; returns a function that stops it. */
export function tendHeap(inFlight: () => number): () => void {
  let growth = 0;
  const look = () => {
    const wanted = inFlight() >= MANY ? GROWTH.many : GROWTH.few;
    if (wanted === growth) return;
    growth = wanted;
    setFlagsFromString(`--heap-growing-percent=${growth}`);
  };
  look();
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
