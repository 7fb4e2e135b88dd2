import { checkFields } from "../../model/argument-checks.ts";
import { createArgumentError } from "../../model/errors.ts";
import type { NoticeChannel } from "../after-end.ts";

/** Options of `webhookChannel`. */
interface WebhookOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/** Posts each notice as JSON; the Idempotency-Key header holds its id and is the same on every retry. */
export function webhookChannel(options: WebhookOptions): NoticeChannel {
  const { url, headers, limitMs } = checkFields("options", options, { url: "name", headers: "object?" });
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw createArgumentError("url", url, "an http or https address");
  return {
    name: `webhook ${new URL(url).host}`,
    ...(limitMs !== undefined && { limitMs }),
    send: async (notice, signal) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers, "idempotency-key": notice.id },
        body: JSON.stringify(notice),
        signal,
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`it answered with status ${response.status}`);
    },
  };
}
