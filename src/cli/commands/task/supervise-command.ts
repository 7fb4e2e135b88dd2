import { commandAgent, processCleanups } from "../../../kernel/faces/task.ts";
import { isLonghaulError } from "../../../kernel/index.ts";
import { dropUndefined } from "../../../model/base/drop-undefined.ts";
import { defineCommand } from "../../cli-command.ts";
import { EXIT } from "../../exit-code.ts";
import type { RunRequest, SupervisorAnswer } from "../../tasks/launch-supervisor.ts";
import { openTasks } from "../../tasks/open-tasks.ts";
import { UsageError } from "../../usage-error.ts";

/** Interval of a timer that does nothing but keep the process alive while the task runs. */
const KEEP_ALIVE_MS = 2 ** 30;

/** Runs one task for `task run`, in a separate process. */
export const superviseCommand = defineCommand({
  name: "task supervise",
  summary: "run a task for another process (called by task run)",
  usage: ["task supervise"],
  options: {},
  maxOperands: 0,
  examples: ["longhaul task run --background -- npm test"],
  async run(context, { options }) {
    if (!process.connected) throw new UsageError("task supervise is internal; use longhaul task run");
    const alive = setInterval(() => undefined, KEEP_ALIVE_MS);
    const caller = new AbortController();
    process.once("disconnect", () => caller.abort());
    try {
      const request = await receiveRequest();
      await using kernel = await openTasks(context, options, (text) => {
        // Recovery may deliver notices of other tasks; the caller's terminal shows only those of its own task.
        if (text.includes(request.options.id)) sendAnswer({ type: "warning", text });
      });
      const { maxOutputBytes, inheritsInput = false } = request;
      const agent = commandAgent({ inheritsInput, ...dropUndefined({ maxOutputBytes }) });
      const task = await kernel.tasks.start(agent, request.input, {
        ...request.options,
        signal: caller.signal,
      });
      sendAnswer({ type: "started", task: task.id, session: task.session });
      // On a signal, settle the running task first, then end its programs.
      context.signal.addEventListener("abort", () => void processCleanups().run());
      await task.wait();
      await kernel.tasks.cleaned();
      return EXIT.fine;
    } catch (error) {
      if (context.signal.aborted) return EXIT.fine;
      const { message } = error as Error;
      const details = isLonghaulError(error) ? error.details : {};
      sendAnswer({
        type: "refused",
        code: (error as { code?: string }).code ?? "UNEXPECTED",
        message,
        details,
      });
      return EXIT.failed;
    } finally {
      clearInterval(alive);
      if (process.connected) process.disconnect();
    }
  },
});

function receiveRequest(): Promise<RunRequest> {
  return new Promise((resolve, reject) => {
    process.once("message", (message) => resolve(message as RunRequest));
    process.once("disconnect", () => reject(new Error("The calling process has exited.")));
  });
}

function sendAnswer(message: SupervisorAnswer): void {
  // The caller may be gone.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
