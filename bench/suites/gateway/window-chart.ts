const WIDTH = 60;

/** Draws the size of the window relative to the limit, one line per `every` turns. */
export function windowChart(tokens: readonly number[], limit: number, every: number): readonly string[] {
  const lines = tokens.flatMap((count, turn) => {
    if (turn % every !== 0) return [];
    const length = Math.min(WIDTH, Math.round((count / limit) * WIDTH));
    const bar = "█".repeat(length).padEnd(WIDTH);
    return [`${String(turn).padStart(5)} │${bar}│ ${count.toLocaleString("en")}`];
  });
  return [` turn │${`window of ${limit.toLocaleString("en")} tokens`.padEnd(WIDTH)}│ tokens`, ...lines];
}
