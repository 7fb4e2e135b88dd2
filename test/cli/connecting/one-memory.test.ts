import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { findInstalled } from "../../../clients/install.ts";
import { RECALL_TOOL } from "../../../src/server/gateway/recall/recall-tools.ts";
import { recalls } from "../../server/gateway/recall/talk.ts";
import { testFolder } from "../../support/folder.ts";
import { proofTest } from "../../support/proof.ts";
import { serveGateway } from "../../support/served-gateway.ts";
import { says, startUpstream } from "../../support/upstream.ts";
import { jsonHere, runHere } from "../support/here.ts";
import { homeWith, snapshotOf } from "./home.ts";
import { REAL_CLIENTS, runClient } from "./real-clients.ts";

const AGENTS = ["claude-code", "codex", "opencode", "pi"];
const QUESTION = "On which port does the staging database listen?";
const PORT = "6543";

/** A history of Claude Code in which somebody names the port, as its file stands in a home folder. */
function historyIn(project: string): Readonly<Record<string, string>> {
  const base = {
    cwd: project,
    sessionId: "5f0c9f0e-7d3a-4a53-9d43-0b8e8f1b2c3d",
    version: "2.1.0",
    userType: "external",
  };
  const lines = [
    {
      ...base,
      type: "user",
      uuid: "a1",
      parentUuid: null,
      timestamp: "2026-03-01T10:00:00.000Z",
      message: { role: "user", content: `Note that the staging database listens on port ${PORT}.` },
    },
    {
      ...base,
      type: "assistant",
      uuid: "a2",
      parentUuid: "a1",
      timestamp: "2026-03-01T10:00:05.000Z",
      message: { role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "Noted." }] },
    },
  ];
  const folder = project.replaceAll(/[^a-zA-Z0-9]/g, "-");
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  return { [`.claude/projects/${folder}/${base.sessionId}.jsonl`]: text };
}

/** A model that recalls the port, and answers with it if recall finds it. */
const remembering = says((heard) => {
  const text = heard.body.toString();
  if (
    text.includes("good night") ||
    !text.includes(QUESTION) ||
    !JSON.stringify(heard.json.tools ?? []).includes(RECALL_TOOL)
  )
    return { text: "Fine." };
  if (text.includes(PORT)) return { text: `It is ${PORT}.` };
  return text.includes("call_1") ? { text: "I do not know." } : recalls("staging database port");
});

proofTest.for(REAL_CLIENTS.filter(({ agent }) => AGENTS.includes(agent.name)))(
  "$agent.name recalls an imported conversation, keeps its session with a new key, and can be disconnected",
  async (client, { skip }) => {
    const installed = findInstalled(client.agent);
    if (installed === undefined) return skip("it is not installed; npm run clients installs it");
    const [store, cwd] = [testFolder(), testFolder()];
    const home = homeWith({ ...client.files, ...historyIn(cwd) });
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, "README.md"), "A shop.\n");
    const before = snapshotOf(home);
    expect((await runHere(["import", "--yes", "--store", store], { home })).code).toBe(0);

    const upstream = await startUpstream(remembering);
    const gateway = await serveGateway(upstream.url, ["--recall", "always"], store);
    const connected = await runHere(["connect", client.agent.name, "--yes", "--url", gateway.url], { home });
    expect(connected.code).toBe(0);

    const turns = [
      { prompt: QUESTION, isFirst: true, key: "sk-ant-first-0123456789" },
      { prompt: "Thanks, and good night.", isFirst: false, key: "sk-ant-second-9876543210" },
    ];
    const answers: string[] = [];
    for (const turn of turns) {
      const command = client.command(installed, home, turn);
      if (!command) return skip("there is no program for this platform");
      const ended = await runClient(command, home, { cwd });
      expect(ended.exitCode, `${ended.stdout}\n${ended.stderr}`).toBe(0);
      answers.push(client.agent.answer(ended.stdout));
    }
    expect(answers).toEqual([`It is ${PORT}.`, "Fine."]);

    // Both turns are one conversation of the same person; a request for a title has a session below it.
    const { value } = await jsonHere(["sessions", "--store", store]);
    const ids: readonly string[] = value.sessions.map(({ id }: { readonly id: string }) => id);
    const own = ids.filter((id) => /^local\/[^/]+$/.test(id));
    expect(own).toHaveLength(1);
    const shown = await runHere(["show", own[0] as string, "--store", store]);
    for (const { prompt } of turns) expect(shown.stdout).toContain(prompt);

    expect((await runHere(["disconnect", client.agent.name], { home })).code).toBe(0);
    const after = snapshotOf(home);
    for (const path of Object.keys(client.files)) expect(after[path], path).toBe(before[path]);
  },
);
