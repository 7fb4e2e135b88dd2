import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Arguments of a gateway process. */
export interface Started {
  readonly folder: string;
  readonly upstream: string;
  /** "none": the gateway alone; "words": recall without an embedder; "vectors": recall with the packaged embedder. */
  readonly recall: "none" | "words" | "vectors";
  /** Bounds of the gateway and of the kernel. */
  readonly limits: object;
  readonly kernelLimits: object;
}

/** An order from the parent process. */
export type Order = { readonly id: number } & (
  | { readonly type: "work"; readonly round: number }
  | { readonly type: "sample" | "objects" | "close" }
  | { readonly type: "fill"; readonly messages: number }
  | { readonly type: "snapshot"; readonly path: string }
);

type Question = Order extends infer One ? (One extends Order ? Omit<One, "id"> : never) : never;

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly url: string;
  order<T>(question: Question): Promise<T>;
  /** Closes the gateway; resolves when its process has exited. */
  close(): Promise<void>;
}

/** The flags of the `longhaul` command (package.json), and access to the garbage collector. */
const FLAGS = ["--expose-gc", "--max-semi-space-size=8", "--disable-warning=ExperimentalWarning"];

/** Starts the process and waits until it listens. */
export async function startProcess(started: Started, flags: readonly string[] = []): Promise<GatewayProcess> {
  const script = fileURLToPath(new URL("gateway-process.ts", import.meta.url));
  const child = fork(script, [JSON.stringify(started)], { execArgv: [...FLAGS, ...flags] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listening = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  child.on("message", (message: { url?: string; id?: number; result?: unknown; error?: string }) => {
    if (message.url !== undefined) return listening.resolve(message.url);
    const own = waiting.get(message.id ?? -1);
    waiting.delete(message.id ?? -1);
    if (message.error === undefined) own?.resolve(message.result);
    else own?.reject(new Error(message.error));
  });
  child.on("exit", (code, signal) => {
    const failure = new Error(`The gateway's process ended with ${signal ?? code}.`);
    listening.reject(failure);
    for (const own of waiting.values()) own.reject(failure);
    if (code === 0) ended.resolve();
    else ended.reject(failure);
  });
  ended.promise.catch(() => undefined);
  let orders = 0;
  const order = <T>(question: Question): Promise<T> => {
    const id = orders++;
    const own = Promise.withResolvers<unknown>();
    waiting.set(id, own);
    child.send({ ...question, id });
    return own.promise as Promise<T>;
  };
  const close = async () => {
    await order({ type: "close" });
    await ended.promise;
  };
  return { url: await listening.promise, order, close };
}
