import { setFlagsFromString } from "node:v8";

/**
 * How far the heap may grow before V8 collects it again, in percent of what is alive. Bodies come and go outside the heap,
 * and V8 would collect all of it again whenever enough of them have, with requests of a megabyte at every sixth: it may wait
 * longer. Where many requests run at once, memory is dearer than time.
 */
const GROWTH = { few: 150, many: 40 };
const MANY = 200;
const LOOK_MS = 250;

/** Tells V8 how far its heap may grow, as requests come and go; the function that is returned ends it. */
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
