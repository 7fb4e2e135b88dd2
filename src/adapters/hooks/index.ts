import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { readConversations } from "../../kernel/calls/project-conversations.ts";
import { type Kernel, openKernel } from "../../kernel/index.ts";
import { readRequestUsage } from "../../kernel/usage/request-usage.ts";
import { UsageSums } from "../../kernel/usage/usage-sums.ts";
import { resolveModuleFile } from "../../model/base/package-files.ts";
import { isNamedSession } from "../../model/session-key.ts";
import { parseJsonOrUndefined, parseObject } from "../../wire/fields.ts";
import { GivenTexts } from "./given-texts.ts";
import { buildHookReply, HOOK_CLIENTS, HOOK_EVENTS, readHookCall } from "./hook-call.ts";
import { type HookCaller, HookService } from "./hook-service.ts";
import { type HookGuest, type HookRequest, listenForHooks } from "./hook-socket.ts";
import { renderStatusLine } from "./status-line.ts";

export { HOOK_CLIENTS, HOOK_EVENTS, type HookClientName, type HookEvent } from "./hook-call.ts";
export { getSocketPlace } from "./hook-place.ts";
export { buildHookSettings, buildOpencodePlugin, HOOK_SETUPS } from "./hook-setups.ts";
export { endHookGuest } from "./hook-socket.ts";
export { renderStatusLine } from "./status-line.ts";

/** Answers the hooks of agents over a local socket and over HTTP. */
interface HookEndpoint extends AsyncDisposable {
  /**
   * Answers one hook in the agent's own form; empty if there is nothing to say. Rejects on an internal error. `deliver`
   * tells whether the answer arrived: if not, its text is not taken as given.
   */
  answer(
    request: Pick<HookRequest, "client" | "event" | "input">,
    deliver: (reply: string) => Promise<boolean>,
    caller?: HookCaller,
  ): Promise<void>;
  /** Answers a request whose sender was checked and whose body was read; errors are reported and answered by `{}`. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    call: { readonly caller: HookCaller; readonly body: unknown; readonly client: string },
  ): Promise<void>;
  /** Listens on the store's socket; false if another process does already. A guest leaves when it is not needed. */
  listen(guest?: HookGuest): Promise<boolean>;
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
  const answer: HookEndpoint["answer"] = async ({ client, event, input }, deliver, caller = {}) => {
    if (event === "statusline") {
      const fields = parseObject(input);
      const saved = await readSaved(kernel, fields?.session_id);
      await deliver(renderStatusLine(fields, { saved, lastRecall: service.lastRecall }));
      return;
    }
    await answerFields({ client, event, fields: parseJsonOrUndefined(input) }, deliver, caller);
  };
  const answerFields = async (
    { client, event, fields }: Pick<HookRequest, "client" | "event"> & { readonly fields: unknown },
    deliver: (reply: string) => Promise<boolean>,
    caller: HookCaller,
  ): Promise<void> => {
    const name = HOOK_CLIENTS.find((one) => one === client);
    const known = HOOK_EVENTS.find((one) => one === event);
    const call = name && readHookCall(name, fields, known);
    if (!call) return void (await deliver(""));
    await service.answer(call, caller, (text) =>
      deliver(text === undefined ? "" : (JSON.stringify(buildHookReply(call, text)) ?? "")),
    );
    if (!isCold && call.event === "session-start" && call.folder !== undefined && !caller.prefixes)
      void service.warm(call.folder).catch(onError);
  };
  const close = async () => {
    await closeSocket?.();
    closeSocket = undefined;
  };
  return {
    answer,
    async handle(_request, response, { caller, body, client }) {
      const deliver = async (reply: string) => {
        const isHeard = !response.destroyed;
        response.writeHead(200, { "content-type": "application/json" }).end(reply === "" ? "{}" : reply);
        return isHeard;
      };
      // A body of many fields takes long enough to be parsed once.
      await answerFields({ client, event: "", fields: body }, deliver, caller).catch(
        async (error: unknown) => {
          onError(error);
          if (!response.headersSent) await deliver("");
        },
      );
    },
    async listen(guest) {
      given.prune();
      closeSocket = await listenForHooks({ store, env, answer, onError, guest });
      return closeSocket !== undefined;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Imports a transcript in a separate process, which ends by itself: reading it must not delay an agent. */
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

/**
 * Answers a hook from the store itself, read-only: no process serves it. Recall compares words only, because loading the
 * embedder would take longer than the agent waits.
 */
export async function answerFromStore(
  { client, event, store }: Pick<HookRequest, "client" | "event" | "store">,
  input: string,
  deliver: (reply: string) => Promise<boolean>,
): Promise<void> {
  if (!existsSync(`${store}/log.db`)) {
    // The first conversation of a new user is imported too.
    const transcript = event === "session-end" && parseObject(input)?.transcript_path;
    if (typeof transcript === "string") startImport(transcript, store);
    await deliver("");
    return;
  }
  const options = { path: store, readOnly: "with-index", embedder: null, monitor: false } as const;
  await using kernel = await openKernel(options);
  const onError = (error: unknown) => {
    throw error;
  };
  const hooks = createHookEndpoint({ kernel, store, env: process.env, onError, isCold: true });
  await hooks.answer({ client, event, input }, deliver);
}

async function readSaved(kernel: Kernel, name: unknown): Promise<number> {
  if (typeof name !== "string") return 0;
  const { conversations } = await readConversations(kernel, {});
  const own = conversations.find(({ id }) => isNamedSession(id, name));
  if (!own) return 0;
  await using session = await kernel.session(own.id);
  const sums = new UsageSums();
  for await (const spent of readRequestUsage(session, (model) => kernel.modelFacts(model))) sums.add(spent);
  return sums.savings.savedCost;
}
