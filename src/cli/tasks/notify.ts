import { commandChannel, type NoticeChannel, type TaskPlan, webhookChannel } from "../../index.ts";

/** Who is told of the end of a task, besides its log; kept in its plan, so that it holds after a crash, too. */
export type Notify = { readonly command?: string; readonly webhook?: string };

/** The channels that a task asks for; throws ARGUMENT_INVALID for an address that is none. */
export function channelsOf({ command, webhook }: Notify): readonly NoticeChannel[] {
  const shell = process.platform === "win32" ? ["cmd", "/c"] : ["sh", "-c"];
  return [
    ...(command === undefined ? [] : [commandChannel({ command: [...shell, command] })]),
    ...(webhook === undefined ? [] : [webhookChannel({ url: webhook })]),
  ];
}

/** Send each notice the ways that the plan of its task names; one that fails does not make the other repeat itself. */
export function plannedChannels(
  planOf: (task: string) => Promise<TaskPlan | undefined>,
): readonly NoticeChannel[] {
  return (["command", "webhook"] as const).map((kind) => ({
    name: `--notify-${kind}`,
    async send(notice, signal) {
      const { [kind]: way } = notifyOf(await planOf(notice.task));
      for (const channel of channelsOf(way === undefined ? {} : { [kind]: way }))
        await channel.send(notice, signal);
    },
  }));
}

function notifyOf(plan: TaskPlan | undefined): Notify {
  const input = plan?.input;
  if (typeof input !== "object" || input === null || !("notify" in input)) return {};
  const { notify } = input;
  if (typeof notify !== "object" || notify === null) return {};
  const { command, webhook } = notify as { readonly [key: string]: unknown };
  return {
    ...(typeof command === "string" && { command }),
    ...(typeof webhook === "string" && { webhook }),
  };
}
