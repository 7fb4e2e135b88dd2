import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import type { Kernel } from "../../kernel/index.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { GivenTexts } from "./given-texts.ts";
import { buildHookReply, HOOK_CLIENTS, HOOK_EVENTS, readHookCall } from "./hook-call.ts";
import { type HookCaller, HookService } from "./hook-service.ts";
import { type HookRequest, listenForHooks } from "./hook-socket.ts";
import { buildStatusLine } from "./status-line.ts";

export { HOOK_CLIENTS, HOOK_EVENTS, type HookClientName, type HookEvent } from "./hook-call.ts";
export { getSocketPlace } from "./hook-place.ts";
export { buildHookSettings, buildOpencodePlugin, HOOK_SETUPS } from "./hook-setups.ts";
export { buildStatusLine } from "./status-line.ts";

/** Answers the hooks of agents over a local socket and over HTTP. */
interface HookEndpoint extends AsyncDisposable {
  /** Answers one hook in the agent's own form; empty if there is nothing to say. Rejects on an internal error. */
  answer(request: Pick<HookRequest, "client" | "event" | "input">, caller?: HookCaller): Promise<string>;
  /** Answers a request whose sender was checked and whose body was read; errors are reported and answered by `{}`. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly caller: HookCaller; readonly body: unknown; readonly client: string },
  ): Promise<void>;
  /** Listens on the store's socket; false if another process does already. */
  listen(): Promise<boolean>;
  close(): Promise<void>;
}

/** Dependencies and settings of an endpoint. */
interface HookEndpointOptions {
  readonly kernel: Kernel;
  /** The folder of the store; texts that were given are noted there. */
  readonly store: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onError: (error: unknown) => void;
  /** True in a process that answers one hook and ends: it reads nothing ahead. */
  readonly isCold?: boolean;
}

export function createHookEndpoint(options: HookEndpointOptions): HookEndpoint {
  const { kernel, store, env, onError, isCold } = options;
  const given = new GivenTexts(store);
  const importing = new Set<string>();
  const service = new HookService({
    kernel,
    given,
    startImport: (transcript) => {
      if (importing.has(transcript)) return;
      importing.add(transcript);
      startImport(transcript, store, () => importing.delete(transcript));
    },
  });
  let closeSocket: (() => Promise<void>) | undefined;
  const answer: HookEndpoint["answer"] = async ({ client, event, input }, caller) => {
    if (event === "statusline")
      return buildStatusLine(kernel, parseInput(input), { lastRecall: service.lastRecall, now: Date.now() });
    const name = HOOK_CLIENTS.find((one) => one === client);
    const known = HOOK_EVENTS.find((one) => one === event);
    const call = name && readHookCall(name, parseInput(input), known);
    const text = call && (await service.answer(call, caller));
    if (!isCold && call?.event === "session-start" && call.folder !== undefined && !caller?.prefixes)
      void service.warm(call.folder).catch(onError);
    const reply = call && text !== undefined ? buildHookReply(call, text) : undefined;
    return reply === undefined ? "" : JSON.stringify(reply);
  };
  const close = async () => {
    await closeSocket?.();
    closeSocket = undefined;
  };
  return {
    answer,
    async handle(_request, response, { caller, body, client }) {
      const reply = await answer({ client, event: "", input: JSON.stringify(body ?? null) }, caller).catch(
        (error: unknown) => {
          onError(error);
          return "";
        },
      );
      response.writeHead(200, { "content-type": "application/json" }).end(reply === "" ? "{}" : reply);
    },
    async listen() {
      given.prune();
      closeSocket = await listenForHooks({ store, env, answer, onError });
      return closeSocket !== undefined;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Imports a transcript in a process of its own, which ends by itself: reading it must not delay an agent. */
export function startImport(transcript: string, store: string, onEnd: () => void = () => undefined): void {
  // Anything else could be read as an option of the program.
  if (!isAbsolute(transcript)) {
    onEnd();
    return;
  }
  const main = fileURLToPath(resolveModuleFile("cli/main"));
  const child = spawn(process.execPath, [main, "import", transcript, "--yes", "--quiet", "--store", store], {
    detached: true,
    stdio: "ignore",
  });
  child.once("error", onEnd);
  child.once("exit", onEnd);
  child.unref();
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
