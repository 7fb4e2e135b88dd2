import { SAMPLE_SESSION } from "../../../src/server/api/sample/sample-session.ts";
import { ApiFailure } from "../../api/api-failure.ts";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";

type Replay = NonNullable<Reply<"GET /jobs/{job}">["replay"]>;

/** The window in which the sample was held. */
export const SAMPLE_WINDOW = 32_000;

const POLL_MS = 250;
let known: Replay | undefined;

/** Replays the sample under all policies, one time for each visit. */
export async function replaySample(signal: AbortSignal): Promise<Replay> {
  if (known) return known;
  const body = { session: SAMPLE_SESSION, window: SAMPLE_WINDOW, curves: true };
  let job: Reply<"GET /jobs/{job}"> = await call("POST /replays", { body }, { signal });
  while (job.state === "running") {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    job = await call("GET /jobs/{job}", { params: { job: job.id } }, { signal });
  }
  if (!job.replay)
    throw new ApiFailure(
      0,
      job.error ?? { code: "UNAVAILABLE", message: "The replay was stopped.", remedy: "Try again." },
    );
  known = job.replay;
  return known;
}
