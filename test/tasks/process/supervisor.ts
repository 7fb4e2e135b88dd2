/** Starts two process trees for a task, reports it, and waits to be killed. */
import { startCommand } from "../../../src/tasks/process/run-command.ts";

const [, , tag = "", mode = ""] = process.argv;
const tree = "setsid sleep 600 & (setsid sh -c 'trap : TERM; sleep 600 & wait; wait' &) ; sleep 600";
for (let index = 0; index < 2; index++) await startCommand({ command: "sh", args: ["-c", tree], tag });
console.log("running");
if (mode === "exit") setTimeout(() => process.exit(5), 300);
if (mode === "throw")
  setTimeout(() => {
    throw new Error("nobody catches this");
  }, 300);
setInterval(() => {}, 1_000);
