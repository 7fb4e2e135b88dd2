import type { Suite } from "../../suite.ts";
import { cacheDiagnosis } from "./cache-diagnosis.ts";
import { longSession } from "./long-session.ts";
import { overhead } from "./overhead.ts";
import { restarts } from "./restart.ts";
import { sessions } from "./sessions.ts";
import { stream } from "./stream.ts";
import { throughput } from "./throughput.ts";

/** The gateway's overhead, memory and savings, compared with a proxy that only forwards. */
export const gateway: Suite = {
  measurements: [overhead, throughput, stream, sessions, restarts, longSession, cacheDiagnosis],
};
