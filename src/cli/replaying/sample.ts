/** Chooses up to `count` elements, spread evenly over all of them. */
export function sampleOf<T>(all: readonly T[], count: number): readonly T[] {
  if (count >= all.length) return all;
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as T);
}
