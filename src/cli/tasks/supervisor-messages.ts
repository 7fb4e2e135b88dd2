import type { ErrorDetails, StartOptions, TaskId } from "../../index.ts";
import type { CommandInputJson } from "../../task-entry.ts";
import type { NotifyTargets } from "./notify-channels.ts";

/** Request from `task run` to a supervisor process. */
export interface RunRequest {
  readonly input: CommandInputJson & { readonly notify?: NotifyTargets };
  readonly options: Omit<StartOptions, "signal" | "id"> & { readonly id: TaskId };
  readonly maxOutputBytes?: number;
  /** The program inherits the stdin of `task run`. */
  readonly inheritsInput?: boolean;
}

/** Messages from a supervisor: the task has started or was refused, and warnings at any time. */
export type SupervisorAnswer =
  | { readonly type: "warning"; readonly text: string }
  | { readonly type: "started"; readonly task: TaskId; readonly session: string }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly message: string;
      readonly details: ErrorDetails;
    };
