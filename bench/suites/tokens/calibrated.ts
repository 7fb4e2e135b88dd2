import { type CalibrationState, createCalibrationState } from "../../../src/window/tokens/calibration.ts";
import { createGauge } from "../../../src/window/tokens/gauge.ts";
import { chooseStartFactor } from "../../../src/window/tokens/start-factor.ts";
import type { ChildTask } from "../../child-job.ts";
import { median, percentile } from "../../measure/percentile.ts";
import { findDataFolder } from "../../real-strings.ts";
import { atMost, toRow } from "../../result.ts";
import type { Measurement } from "../../suite.ts";
import { type CountedRequest, countedSessions } from "./requests.ts";

type Gauge = ReturnType<typeof createGauge>;

/** Errors of requests by family, as shares of the counted window. */
interface FamilyAnswer {
  readonly family: string;
  readonly requests: number;
  readonly absolute: number;
  readonly signed: number;
  readonly worst20th: number;
  /** Error of the added content alone, as a share of it. */
  readonly added: number;
  /** Error of the whole window when the last known report is many requests old. */
  readonly late: number | null;
  /** Median of counted tokens per estimated token of the added content. */
  readonly factor: number;
  readonly factorRequests: number;
  readonly startFactor: number;
}

/** Reports after which a gauge counts as calibrated. */
const TAUGHT_REPORTS = 3;
/** Minimum added tokens to derive a factor, so that it is not dominated by framing and notes. */
const TELLING_TOKENS = 500;
/** Age of the last report of a late gauge, in requests. */
const LATE_BY = 20;

interface Seen {
  readonly family: string;
  readonly start: number;
  readonly errors: number[];
  readonly late: number[];
  /** Content added since the previous report: estimation error and counted tokens. */
  readonly added: { readonly off: number; readonly counted: number }[];
  readonly ratios: number[];
}

/** Predicts the size of each window from the reports before it. */
export const foretell: ChildTask<string, readonly FamilyAnswer[]> = async function foretell(dataFolder) {
  const families = new Map<string, Seen>();
  for await (const requests of countedSessions(dataFolder)) {
    const taught = new Map<string, CalibrationState>();
    for (const run of runsOf(requests)) foretellRun(run, taught, families);
  }
  return [...families.values()].filter(({ errors }) => errors.length > 0).map(answerOf);
};

/**
 * Requests of one model while the window grows: where it shrank, the agent edited it in a way the
 * transcript does not record.
 */
function* runsOf(requests: readonly CountedRequest[]): Generator<readonly CountedRequest[]> {
  let run: CountedRequest[] = [];
  for (const request of requests) {
    const last = run.at(-1);
    if (last && (last.model !== request.model || last.counted > request.counted)) {
      yield run;
      run = [];
    }
    run.push(request);
  }
  yield run;
}

function foretellRun(
  run: readonly CountedRequest[],
  taught: Map<string, CalibrationState>,
  families: Map<string, Seen>,
): void {
  const model = run[0]?.model ?? "";
  const seen = seenOf(families, model);
  // After an edit there is no report yet, but the calibration is kept.
  const gauges: Gauge[] = [
    createGauge({ calibration: taught.get(model) ?? createCalibrationState(chooseStartFactor(model)) }),
  ];
  for (const [index, { estimated, counted }] of run.entries()) {
    const known = gauges[index] as Gauge;
    const before = run[index - 1];
    if (before && index >= TAUGHT_REPORTS) {
      const off = known.counted(estimated) - counted;
      seen.errors.push(off / counted);
      seen.added.push({ off: Math.abs(off), counted: counted - before.counted });
    }
    const late = gauges[index - LATE_BY];
    if (late?.state.anchor) seen.late.push(Math.abs(late.counted(estimated) / counted - 1));
    const added = before ? estimated - before.estimated : 0;
    if (before && added >= TELLING_TOKENS) seen.ratios.push((counted - before.counted) / added);
    gauges.push(known.observe(estimated, counted));
  }
  taught.set(model, (gauges.at(-1) as Gauge).state.calibration);
}

function seenOf(families: Map<string, Seen>, model: string): Seen {
  const family = /claude-[a-z]+-\d-\d|gpt-\d|gemini-\d/.exec(model)?.[0].replace("claude-", "") ?? "others";
  const seen = families.get(family) ?? {
    family,
    start: chooseStartFactor(model),
    errors: [],
    late: [],
    added: [],
    ratios: [],
  };
  families.set(family, seen);
  return seen;
}

function answerOf({ family, start, errors, late, added, ratios }: Seen): FamilyAnswer {
  const sizes = errors.map(Math.abs);
  return {
    family,
    requests: errors.length,
    absolute: mean(sizes),
    signed: mean(errors),
    worst20th: percentile(sizes, 0.95),
    late: late.length > 0 ? mean(late) : null,
    added: mean(added.map(({ off }) => off)) / mean(added.map(({ counted }) => counted)),
    factor: median(ratios),
    factorRequests: ratios.length,
    startFactor: start,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Error of window sizes compared with providers' reports on real sessions, and providers' tokens
 * relative to our estimates.
 */
export const calibrated: Measurement = {
  name: "calibrated",
  async *run(bench) {
    const data = findDataFolder();
    if (!data) {
      bench.note("Left out calibrated: no LONGHAUL_DATA and no shared/data beside the repository.");
      return;
    }
    const answers = await bench.child("reports", import.meta.url, foretell, data);
    for (const {
      family,
      requests,
      absolute,
      signed,
      worst20th,
      added,
      late,
      factor,
      factorRequests,
      startFactor,
    } of answers) {
      const id = `calibrated.${family}`;
      yield toRow({ id, value: 100 * absolute, unit: `% of ${requests} windows`, goal: atMost(3, "%") });
      yield toRow({ id: `${id}.sum`, value: 100 * signed, unit: "% on average" });
      yield toRow({ id: `${id}.added`, value: 100 * added, unit: "% of what was new" });
      yield toRow({ id: `${id}.late`, value: late && 100 * late, unit: `% after ${LATE_BY} requests` });
      yield toRow({ id: `${id}.worst`, value: 100 * worst20th, unit: "% in 1 of 20" });
      if (factorRequests > 0)
        yield toRow({
          id: `${id}.factor`,
          value: factor,
          unit: `median of ${factorRequests}`,
          beside: "start factor",
          besideValue: startFactor,
        });
    }
  },
};
