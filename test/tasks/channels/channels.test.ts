import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TaskNotice } from "../../../src/model/task.ts";
import { commandChannel, webhookChannel } from "../../../src/tasks/channels/command-channel.ts";
import { getSystemTable } from "../../../src/tasks/process/system-table.ts";
import { eventually } from "../../support/eventually.ts";
import { testFolder } from "../../support/folder.ts";

const notice: TaskNotice = {
  id: "t/ended",
  task: "t",
  agent: "greet",
  session: "t",
  state: "completed",
  settledAt: 1,
};
const never = new AbortController().signal;

test("a command gets the notice on its standard input and the id in its environment", async () => {
  const path = join(testFolder(), "heard");
  const script = `require("node:fs").writeFileSync(process.argv[1], process.env.LONGHAUL_NOTICE_ID + " " + require("node:fs").readFileSync(0, "utf8"))`;
  await commandChannel({ command: [process.execPath, "-e", script, path] }).send(notice, never);
  const [id, ...json] = readFileSync(path, "utf8").split(" ");
  expect(id).toBe("t/ended");
  expect(JSON.parse(json.join(" "))).toEqual(notice);
});

test("a command that fails or is missing is reported with its own message", async () => {
  const failing = commandChannel({
    command: [process.execPath, "-e", "console.error('no post today'); process.exit(3)"],
  });
  await expect(failing.send(notice, never)).rejects.toThrow(/exit code 3: no post today/);
  await expect(commandChannel({ command: ["longhaul-no-such-program"] }).send(notice, never)).rejects.toThrow(
    /no such program/,
  );
});

test("a hanging command is ended by its signal, with all its children", async () => {
  const folder = testFolder();
  const code = `sleep 600 & echo $! > "${folder}/child"; trap "" TERM; while :; do sleep 1; done`;
  const stop = new AbortController();
  const sending = commandChannel({ command: ["sh", "-c", code] }).send(notice, stop.signal);
  const child = () => Number(readFileSync(join(folder, "child"), { encoding: "utf8", flag: "a+" }));
  await eventually("the child has said its id", () => child() > 0);
  stop.abort();
  await expect(sending).rejects.toThrow(/SIGKILL/);
  await eventually("the child is gone", async () => (await getSystemTable().look(child())) === undefined);
});

test("a webhook gets the notice with its id, and any status but success is a failure", async () => {
  const heard: { key: string | undefined; body: string }[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    heard.push({ key: request.headers["idempotency-key"] as string | undefined, body });
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const channel = webhookChannel({ url: `http://127.0.0.1:${port}/hook` });
  await channel.send(notice, never);
  expect(heard).toEqual([{ key: "t/ended", body: JSON.stringify(notice) }]);
  status = 500;
  await expect(channel.send(notice, never)).rejects.toThrow(/500/);
});

test("an empty command and a wrong URL are refused at once", () => {
  expect(() => commandChannel({ command: [] })).toThrow(/command/);
  expect(() => webhookChannel({ url: "ftp://x" })).toThrow(/url/);
});
