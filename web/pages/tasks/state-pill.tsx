import type { Reply } from "../../api/routes.ts";
import { tasksText as text } from "./tasks-text.ts";

export type Details = Reply<"GET /tasks/{task}">;

export const STATES = ["queued", "running", "detaching", "completed", "failed", "killed"] as const;
export type State = (typeof STATES)[number];
export const LIVE_STATES: readonly State[] = ["queued", "running", "detaching"];
export const ENDED_STATES: readonly State[] = ["completed", "failed", "killed"];

export const isLive = (state: State) => LIVE_STATES.includes(state);

/** The state of a task. */
export function StatePill({ state }: { readonly state: State }) {
  return <span class={`pill state-${state}`}>{text(state)}</span>;
}
