import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { findInstalled } from "../../../clients/install.ts";
import { proofTest } from "../../support/proof.ts";
import { runHere } from "../support/here.ts";
import { homeWith, snapshotOf } from "./home.ts";
import { REAL_CLIENTS, runClient } from "./real-clients.ts";

/** A provider that refuses every request and records its path. */
async function startRefusal() {
  const paths: string[] = [];
  const first = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    // connect itself looks whether a gateway answers.
    if (request.url !== "/healthz") {
      paths.push(request.url ?? "");
      first.resolve();
    }
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: "No." } }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, first: first.promise };
}

proofTest.for(REAL_CLIENTS)("$agent.name reads the file that connect wrote", async (client, { skip }) => {
  const installed = findInstalled(client.agent);
  if (installed === undefined) return skip("it is not installed; npm run clients installs it");
  const home = homeWith(client.files);
  const before = snapshotOf(home);
  const server = await startRefusal();
  const connected = await runHere(["connect", client.agent.name, "--yes", "--url", server.url], { home });
  expect(connected.code).toBe(0);
  const command = client.command(installed, home);
  if (!command) return skip("there is no program for this platform");
  const ended = await runClient(command, home, { endOn: server.first });
  expect(server.paths.join("\n") || `${ended.stdout}\n${ended.stderr}`).toMatch(client.path);
  // Agents leave files of their own; those that connect changed return as they were.
  await runHere(["disconnect", client.agent.name], { home });
  const after = snapshotOf(home);
  for (const path of Object.keys(client.files)) {
    if (existsSync(join(home, path)) && path !== ".cline/data/globalState.json")
      expect(after[path]).toBe(before[path]);
  }
  expect(JSON.stringify(Object.keys(client.files).map((path) => after[path]))).not.toContain(server.url);
});
