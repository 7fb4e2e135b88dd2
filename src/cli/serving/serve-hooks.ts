import { createHookEndpoint } from "../../adapters/hooks/index.ts";
import { openKernel } from "../../kernel/index.ts";
import type { CommonValues } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { EXIT } from "../exit-code.ts";
import { getStoreOptions, getStorePath, nameStore } from "../open-store.ts";
import { escapeLine, toSafeJson } from "../terminal/escape.ts";
import { printTo } from "../terminal/printer.ts";

/** Answers agents' hooks on the local socket until stopped, without a gateway. */
export async function serveHooks(context: CliContext, options: CommonValues): Promise<number> {
  const { env, stdout, stderr, signal } = context;
  const warn = (message: string) => {
    if (!options.quiet) stderr.write(`longhaul: ${escapeLine(message)}\n`);
  };
  await using kernel = await openKernel({ ...getStoreOptions(context, options), onWarning: warn });
  await using hooks = createHookEndpoint({
    kernel,
    store: getStorePath(context, options),
    env,
    onError: (error) => warn(`hooks: ${String(error)}`),
  });
  if (!(await hooks.listen())) {
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
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(stay);
  return EXIT.fine;
}
