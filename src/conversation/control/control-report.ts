import type { Json, Kernel, SessionId, SessionRecord } from "../../index.ts";
import { findOrigin } from "../../model/session-origin.ts";
import { type BootstrapInterval, computeBootstrapInterval, computeMean } from "./bootstrap-interval.ts";
import {
  type ConversationOutcome,
  type MeasuredConversation,
  measureConversation,
} from "./conversation-outcome.ts";

/** Conversations that each arm needs before a difference is worth reading. */
const MIN_CONVERSATIONS = 20;

const OUTCOMES = [
  "tokens",
  "cost",
  "steps",
  "rereads",
  "overflows",
  "corrections",
] as const satisfies readonly (keyof ConversationOutcome)[];

/** The means of one figure in both arms, per conversation, and their difference: edited minus control. */
export interface ControlFigure extends BootstrapInterval {
  readonly name: (typeof OUTCOMES)[number];
  readonly control: number;
  readonly edited: number;
}

/** Both arms of the conversations of one agent with one model. */
export interface ControlGroup {
  /** Undefined for all agents, or all models. */
  readonly agent: string | undefined;
  readonly model: string | undefined;
  /** Number of conversations in each arm: the denominators of the means. */
  readonly conversations: { readonly control: number; readonly edited: number };
  readonly isEnough: boolean;
  readonly figures: readonly ControlFigure[];
}

/** A comparison of edited conversations with those that were left alone. */
export interface ControlReport {
  readonly basis: "measured";
  readonly minConversations: number;
  /** All conversations first, then each agent and model, largest first. */
  readonly groups: readonly ControlGroup[];
}

interface ArmConversation extends MeasuredConversation {
  readonly arm: "control" | "edited";
  readonly agent: string;
}

interface ReportOptions {
  /** Sessions to compare; those without an arm are left out. */
  readonly records: AsyncIterable<SessionRecord>;
  /** Only conversations that began since then. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

/**
 * Compares the arms of a control group by the usage that providers reported. Secondary conversations count with their
 * main one.
 */
export async function buildControlReport(
  kernel: Kernel,
  { records, since = 0, signal }: ReportOptions,
): Promise<ControlReport> {
  const mains: { readonly record: SessionRecord; readonly arm: "control" | "edited" }[] = [];
  const others: SessionId[] = [];
  for await (const record of records) {
    const { kind, arm } = readArm(record);
    if ((arm !== "control" && arm !== "edited") || record.createdAt < since) continue;
    if (kind === "main") mains.push({ record, arm });
    else others.push(record.id);
  }
  const measured: ArmConversation[] = [];
  for (const { record, arm } of mains) {
    const secondary = others.filter((id) => id.startsWith(`${record.id}/`));
    const conversation = await measureConversation(kernel, [record.id, ...secondary], signal);
    measured.push({ ...conversation, arm, agent: findOrigin(record).agent ?? "(unknown)" });
  }
  const groups = Map.groupBy(measured, ({ agent, model }) => JSON.stringify([agent, model ?? "(unknown)"]));
  const single = [...groups]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([key, own]) => {
      const [agent, model] = JSON.parse(key) as [string, string];
      return buildGroup(own, agent, model);
    });
  return {
    basis: "measured",
    minConversations: MIN_CONVERSATIONS,
    groups: measured.length === 0 ? [] : [buildGroup(measured, undefined, undefined), ...single],
  };
}

function buildGroup(
  measured: readonly ArmConversation[],
  agent: string | undefined,
  model: string | undefined,
): ControlGroup {
  const ofArm = (arm: "control" | "edited") => measured.filter((one) => one.arm === arm);
  const [control, edited] = [ofArm("control"), ofArm("edited")];
  return {
    agent,
    model,
    conversations: { control: control.length, edited: edited.length },
    isEnough: Math.min(control.length, edited.length) >= MIN_CONVERSATIONS,
    figures: OUTCOMES.map((name) => {
      const valuesOf = (some: readonly ArmConversation[]) =>
        some
          .filter(({ unpricedRequests }) => name !== "cost" || unpricedRequests === 0)
          .map((one) => one[name]);
      const [before, after] = [valuesOf(control), valuesOf(edited)];
      return {
        name,
        control: computeMean(before),
        edited: computeMean(after),
        ...computeBootstrapInterval(before, after),
      };
    }),
  };
}

/** The kind and the arm that the gateway stored with a session. */
function readArm({ meta }: SessionRecord): { readonly kind?: unknown; readonly arm?: unknown } {
  const stored = meta?.gateway;
  return typeof stored === "object" && stored !== null ? (stored as { readonly [field: string]: Json }) : {};
}
