import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Used heap and RSS of the process. */
export interface Usage {
  readonly heapBytes: number;
  readonly rssBytes: number;
}

/** One of the two over time: start and end without garbage, peak as observed. */
export interface Course {
  readonly startBytes: number;
  readonly peakBytes: number;
  readonly endBytes: number;
  readonly growthBytes: number;
}

/** Observes the memory of this process. */
export class MemoryMeter {
  readonly #start: Usage = withoutGarbage();
  #peak: Usage = this.#start;

  /** Takes a reading, which may become the peak. */
  sample(): Usage {
    return this.#see(now());
  }

  /** The course from the start until now. */
  courses(): { readonly heap: Course; readonly rss: Course } {
    this.sample();
    const end = this.#see(withoutGarbage());
    const course = (key: keyof Usage): Course => ({
      startBytes: this.#start[key],
      peakBytes: this.#peak[key],
      endBytes: end[key],
      growthBytes: end[key] - this.#start[key],
    });
    return { heap: course("heapBytes"), rss: course("rssBytes") };
  }

  #see(usage: Usage): Usage {
    this.#peak = {
      heapBytes: Math.max(this.#peak.heapBytes, usage.heapBytes),
      rssBytes: Math.max(this.#peak.rssBytes, usage.rssBytes),
    };
    return usage;
  }
}

function now(): Usage {
  const { heapUsed, rss } = process.memoryUsage();
  return { heapBytes: heapUsed, rssBytes: rss };
}

/** Usage after a collection: garbage says nothing about growth. */
function withoutGarbage(): Usage {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return now();
}
