// A tool that runs a shell command; its whole process tree ends with it or at its deadline.
import { tool } from "ai";
import { runCommand } from "longhaul/task";
import { z } from "zod";

const USUAL_SECONDS = 120;
const MAX_CHARACTERS = 12_000;

export function runTool(folder: string, tag: string) {
  return tool({
    description: "Runs a shell command in the working folder and shows the end of what it printed.",
    inputSchema: z.object({
      command: z.string().min(1),
      seconds: z.number().min(1).max(1_800).optional().describe(`at most; ${USUAL_SECONDS} unless given`),
    }),
    execute: async ({ command, seconds = USUAL_SECONDS }, { abortSignal }) => {
      const isWindows = process.platform === "win32";
      const end = await runCommand({
        command: isWindows ? "cmd.exe" : "/bin/sh",
        args: isWindows ? ["/d", "/s", "/c", command] : ["-c", command],
        cwd: folder,
        tag,
        deadlineMs: seconds * 1_000,
        maxOutputBytes: 50_000_000,
        keepBytes: MAX_CHARACTERS,
        ...(abortSignal && { signal: abortSignal }),
      });
      abortSignal?.throwIfAborted();
      const how = {
        exited: end.exitCode === undefined ? `ended by ${end.signal}` : `exit code ${end.exitCode}`,
        deadline: `stopped: it took longer than ${seconds} s`,
        output: "stopped: it printed too much",
        aborted: "stopped",
      }[end.reason];
      const errors = end.stderr.trim() === "" ? [] : ["[errors]", end.stderr.trimEnd()];
      return [`[${how}]`, end.stdout.trimEnd(), ...errors].filter((part) => part !== "").join("\n");
    },
  });
}
