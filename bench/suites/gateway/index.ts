import type { Suite } from "../../suite.ts";
import { longSession } from "./long-session.ts";
import { overhead } from "./overhead.ts";
import { sessions } from "./sessions.ts";
import { stream } from "./stream.ts";
import { throughput } from "./throughput.ts";

/** The gateway: what it adds to requests, holds for sessions and saves, beside a proxy that does nothing. */
export const gateway: Suite = { measurements: [overhead, throughput, stream, sessions, longSession] };
