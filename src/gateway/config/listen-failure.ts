import type { LonghaulError } from "../../index.ts";
import { createConfigInvalidError } from "./config-problem.ts";

/** The error for an address that cannot be listened on, with advice; undefined for failures of another kind. */
export function toListenError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): LonghaulError | undefined {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : { code: undefined };
  const about = (key: string, message: string) => createConfigInvalidError([{ key, message }]);
  if (code === "EADDRINUSE")
    return about(
      "port",
      `port is ${port}, which another program uses on ${host}; end it, or choose another: --port 0 takes any that is free.`,
    );
  if (code === "EACCES")
    return about(
      "port",
      `port is ${port}, which this user may not listen on; choose one from 1024 on, or --port 0.`,
    );
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return about(
      "host",
      `host is ${JSON.stringify(host)}, which is no address of this computer; 127.0.0.1 is.`,
    );
  return undefined;
}
