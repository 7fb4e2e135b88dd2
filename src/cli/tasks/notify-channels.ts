import {
  commandChannel,
  type NoticeChannel,
  type TaskPlan,
  webhookChannel,
} from "../../kernel/faces/task.ts";
import { dropUndefined } from "../../model/base/drop-undefined.ts";

/** Extra notice channels of a task; stored in its plan, so they survive a crash. */
export type NotifyTargets = { readonly command?: string; readonly webhook?: string };

/** Creates the notice channels of a task; throws ARGUMENT_INVALID for an invalid URL. */
export function createNotifyChannels({ command, webhook }: NotifyTargets): readonly NoticeChannel[] {
  const shell = process.platform === "win32" ? ["cmd", "/c"] : ["sh", "-c"];
  return [
    ...(command === undefined ? [] : [commandChannel({ command: [...shell, command] })]),
    ...(webhook === undefined ? [] : [webhookChannel({ url: webhook })]),
  ];
}

/**
 * Creates channels that send each notice as its task's plan says. They are separate channels, so a failure of one does
 * not repeat the other.
 */
export function createPlannedChannels(
  planOf: (task: string) => Promise<TaskPlan | undefined>,
): readonly NoticeChannel[] {
  return (["command", "webhook"] as const).map((kind) => ({
    name: `--notify-${kind}`,
    async send(notice, signal) {
      const { [kind]: way } = readNotifyTargets(await planOf(notice.task));
      for (const channel of createNotifyChannels(way === undefined ? {} : { [kind]: way }))
        await channel.send(notice, signal);
    },
  }));
}

function readNotifyTargets(plan: TaskPlan | undefined): NotifyTargets {
  const input = plan?.input;
  if (typeof input !== "object" || input === null || !("notify" in input)) return {};
  const { notify } = input;
  if (typeof notify !== "object" || notify === null) return {};
  const { command, webhook } = notify as { readonly [key: string]: unknown };
  return dropUndefined({
    command: typeof command === "string" ? command : undefined,
    webhook: typeof webhook === "string" ? webhook : undefined,
  });
}
