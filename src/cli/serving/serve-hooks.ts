import { statSync } from "node:fs";
import { join } from "node:path";
import { createHookEndpoint } from "../../adapters/hooks/index.ts";
import type { CommonValues } from "../cli-command.ts";
import { type CliContext, waitForAbort } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStorePath, isStoreThere, nameStore, openExistingStore, openStore } from "../open-store.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

/**
 * Answers agents' hooks on the local socket until stopped, without a gateway. A hook that starts it names the time after
 * which it ends without calls; it makes no store then.
 */
export async function serveHooks(context: CliContext, options: CommonValues): Promise<number> {
  const { env, stdout, stderr, signal } = context;
  const warn = (message: string) => {
    if (!options.quiet) stderr.write(`longhaul: ${escapeLine(message)}\n`);
  };
  const idleMs = Number(env.LONGHAUL_HOOKS_IDLE_MS) || undefined;
  const isThere = isStoreThere(context, options);
  if (!isThere && idleMs !== undefined) return EXIT.fine;
  await using kernel = isThere
    ? await openExistingStore(context, options, { onWarning: warn })
    : await openStore(context, options);
  const folder = getStorePath(context, options);
  const onError = (error: unknown) => warn(`hooks: ${String(error)}`);
  await using hooks = createHookEndpoint({ kernel, store: folder, env, onError });
  const left = Promise.withResolvers<void>();
  const findFile = () => statSync(join(folder, "log.db"), { throwIfNoEntry: false })?.ino;
  const file = findFile();
  const guest = { idleMs: idleMs ?? 0, leave: left.resolve, isCurrent: () => findFile() === file };
  if (!(await hooks.listen(idleMs === undefined ? undefined : guest))) {
    await printTo(stdout, "Another process answers the hooks of this store already.\n");
    return EXIT.fine;
  }
  // The first recall loads the index and the embedder, which a hook must not wait for.
  void kernel.memory.recall("warm up", { waitMs: 0, k: 1 }).catch((error: unknown) => warn(String(error)));
  const store = nameStore(context, options);
  const line = options.json
    ? toSafeJson({ type: "listening", store })
    : `Answering hooks of agents from ${escapeLine(store)}. Press Ctrl-C to stop.`;
  if (options.json || !options.quiet) await printTo(stdout, `${line}\n`);
  // The socket alone does not keep the process alive.
  const stay = setInterval(() => undefined, 3_600_000);
  await Promise.race([left.promise, waitForAbort(signal)]);
  clearInterval(stay);
  return EXIT.fine;
}
