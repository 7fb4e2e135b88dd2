import type { CommandInputJson, ErrorDetails, StartOptions, TaskId } from "../../index.ts";
import type { Notify } from "./notify.ts";

/** What `task run` asks a supervising process for. */
export interface RunRequest {
  readonly input: CommandInputJson & { readonly notify?: Notify };
  readonly options: Omit<StartOptions, "signal" | "id"> & { readonly id: TaskId };
  readonly maxOutputBytes?: number;
  /** The program reads what `task run` would read. */
  readonly inheritsInput?: boolean;
}

/** What a supervising process answers: the task is in the log, or why it is not; and what goes wrong besides, at any time. */
export type SupervisorAnswer =
  | { readonly type: "warning"; readonly text: string }
  | { readonly type: "started"; readonly task: TaskId; readonly session: string }
  | {
      readonly type: "refused";
      readonly code: string;
      readonly message: string;
      readonly details: ErrorDetails;
    };
