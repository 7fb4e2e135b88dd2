// Made by longhaul: recall at the moment of action. "longhaul disconnect --hooks" removes this file.
import { spawn } from "node:child_process";

const PROGRAM = "longhaul";
const ARGS = ["hook"];
const LIMIT_MS = 5000;

/** Calls longhaul; resolves to the text to add, or to undefined. Never rejects. */
function ask(event, fields) {
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, [...ARGS, event, "--client", "opencode"], { stdio: ["pipe", "pipe", "ignore"] });
    const timer = setTimeout(() => child.kill(), LIMIT_MS);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
    child.on("error", () => resolve(undefined));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(output).context);
      } catch {
        resolve(undefined);
      }
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(fields));
  });
}

/** Conversations that have begun in this process. */
const begun = new Set();

const Longhaul = async ({ directory }) => {
  // Nobody waits for this one: it starts the server that answers the first prompt.
  void ask("session-start", {});
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\n");
      const fields = { session_id: sessionID, cwd: directory };
      const events = begun.has(sessionID) ? ["prompt"] : ["session-start", "prompt"];
      begun.add(sessionID);
      const texts = await Promise.all(events.map((event) => ask(event, { ...fields, prompt })));
      const last = parts.at(-1);
      if (last === undefined) return;
      for (const [at, text] of texts.entries())
        if (text !== undefined)
          parts.push({ ...last, id: last.id + "longhaul" + at, type: "text", synthetic: true, text, messageID: message.id, sessionID });
    },
    "tool.execute.after": async ({ tool, sessionID, args }, output) => {
      const failed = output?.metadata?.exit !== undefined && output.metadata.exit !== 0;
      if (!failed) return;
      const tool_response = { text: output.output, exit_code: output.metadata.exit };
      const fields = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args, tool_response };
      const text = await ask("after-failure", fields);
      if (text !== undefined) output.output += "\n" + text;
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const text = await ask("after-compaction", { session_id: sessionID, cwd: directory });
      if (text !== undefined) output.context.push(text);
    },
  };
};

export { Longhaul };
