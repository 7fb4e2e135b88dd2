/** Values of a metric's labels. */
type Labels<L extends string> = Readonly<Record<L, string>>;

/** A metric in Prometheus' text format. */
export interface Metric {
  render(): string;
}

export interface Counter<L extends string> extends Metric {
  add(labels: Labels<L>, amount?: number): void;
}

/** Counts values by bucket. */
export interface Histogram<L extends string> extends Metric {
  observe(labels: Labels<L>, value: number): void;
}

/**
 * Maximum number of label sets. Clients supply model names and similar labels, so all further sets are counted as one.
 */
export const MAX_SERIES = 200;
/** The label of all further sets. */
export const OTHER = "other";
const MAX_LABEL_CHARACTERS = 100;
/** Labels that need no escaping. */
const PLAIN = /^[\w./:@ -]{0,60}$/;

/** A counter, or a gauge that is moved up and down. */
export function createCounterMetric<L extends string>(
  name: string,
  help: string,
  labels: readonly L[],
  type: "counter" | "gauge" = "counter",
): Counter<L> {
  const series = createSeries(labels, () => ({ value: 0 }));
  return {
    add(values, amount = 1) {
      const one = series.of(values);
      if (Number.isFinite(amount) && (amount >= 0 || type === "gauge")) one.value += amount;
    },
    render: () =>
      formatMetric(
        name,
        help,
        type,
        [...series.all()].map(([text, { value }]) => `${name}${formatLabels(text)} ${value}`),
      ),
  };
}

/** A gauge whose value is read when it is rendered. */
export function createGaugeMetric(
  name: string,
  help: string,
  read: () => number,
  type: "gauge" | "counter" = "gauge",
): Metric {
  return { render: () => formatMetric(name, help, type, [`${name} ${read()}`]) };
}

/** A histogram with the given bounds, in ascending order. */
export function createHistogramMetric<L extends string>(
  name: string,
  help: string,
  labels: readonly L[],
  bounds: readonly number[],
): Histogram<L> {
  const series = createSeries(labels, () => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
  return {
    observe(values, value) {
      const one = series.of(values);
      if (!Number.isFinite(value)) return;
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at++;
      if (at < bounds.length) one.counts[at] = (one.counts[at] ?? 0) + 1;
      one.sum += value;
      one.count++;
    },
    render: () =>
      formatMetric(
        name,
        help,
        "histogram",
        [...series.all()].flatMap(([text, { counts, sum, count }]) => {
          let below = 0;
          const buckets = bounds.map((bound, at) => {
            below += counts[at] ?? 0;
            return `${name}_bucket${formatLabels(text, `le="${bound}"`)} ${below}`;
          });
          return [
            ...buckets,
            `${name}_bucket${formatLabels(text, 'le="+Inf"')} ${count}`,
            `${name}_sum${formatLabels(text)} ${sum}`,
            `${name}_count${formatLabels(text)} ${count}`,
          ];
        }),
      ),
  };
}

function createSeries<L extends string, S>(labels: readonly L[], make: () => S) {
  const series = new Map<string, S>();
  const others = labels.map((label) => `${label}="${OTHER}"`).join(",");
  return {
    of(values: Labels<L>): S {
      let own = "";
      for (const label of labels) own += `${own === "" ? "" : ","}${label}="${escapeLabel(values[label])}"`;
      const key = series.has(own) || series.size < MAX_SERIES ? own : others;
      const known = series.get(key) ?? make();
      series.set(key, known);
      return known;
    },
    all: () => series.entries(),
  };
}

function formatMetric(name: string, help: string, type: string, samples: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples, ""].join("\n");
}

function formatLabels(...texts: readonly string[]): string {
  const inside = texts.filter((text) => text !== "").join(",");
  return inside === "" ? "" : `{${inside}}`;
}

function escapeLabel(value: string): string {
  if (PLAIN.test(value)) return value;
  return value
    .slice(0, MAX_LABEL_CHARACTERS)
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
}
