import type { Message } from "../../../src/model/message.ts";
import type { Part } from "../../../src/model/part.ts";
import { groupSlots } from "../../../src/window/group.ts";
import type { Policy, PolicyLimits } from "../../../src/window/policy.ts";
import { isShrunk } from "../../../src/window/shrink/result-shrinker.ts";
import { type Slot, sumSlotTokens } from "../../../src/window/slot.ts";
import type { Random } from "../../support/random.ts";
import { isBare, orphansIn, reusesIds, tiedTo, tokensOf, untouchable, withoutCall } from "./rules.ts";

/** Rules that a policy is exempt from. */
export interface Exemptions {
  /** May send windows that do not fit. */
  readonly limit?: true;
  /** Rebuilds windows from the log, so that evicted or clipped content can come back. */
  readonly rebuilds?: true;
}

/**
 * Runs a session under a policy and returns a description of the first rule it breaks; undefined if it keeps them all.
 */
export function brokenRule(
  policy: Policy,
  messages: readonly Message[],
  random: Random,
  exempt: Exemptions,
): string | undefined {
  const system = random.below(100);
  const tokens = system + 400 + random.below(4_000);
  const limits: PolicyLimits = {
    system,
    tokens,
    window: Math.ceil(tokens * (1 + random.next() * 0.4)),
    ...(random.chance(0.1) && { messages: 4 + random.below(10) }),
  };
  const slots = messages.map((message, index): Slot => {
    return { seq: index * 2 + 1, at: index, message, tokens: tokensOf(message) };
  });
  const pins = new Set(random.chance(0.3) ? [random.below(slots.length) * 2 + 1] : []);
  let run = policy.start(limits, tokensOf, { pins });
  let sent: readonly Slot[] = [];
  let arrived: Slot[] = [];
  for (const [index, slot] of slots.entries()) {
    run.observe(slot);
    arrived.push(slot);
    if (index < slots.length - 1 && random.chance(0.6)) continue;
    const said = slots.slice(0, index + 1);
    const before = [...sent, ...arrived];
    const window = run.fit({ isHot: random.chance(0.7) });
    const fit = { before, window, said, limits, pins, exempt, reason: run.reason };
    for (const [name, holds] of Object.entries(RULES)) if (!holds(fit)) return `${name}, at message ${index}`;
    const again = run.fit({ isHot: random.chance(0.5) });
    if (again.length !== window.length || again.some((one, at) => one !== window[at]))
      return `changes nothing when nothing was said, at message ${index}`;
    sent = [...window];
    arrived = [];
    if (random.chance(0.2))
      run = policy.start(limits, tokensOf, { pins, window: sent, past: [], calls: index });
  }
  return undefined;
}

interface Fit {
  /** The last sent window, with the messages since. */
  readonly before: readonly Slot[];
  readonly window: readonly Slot[];
  readonly said: readonly Slot[];
  readonly limits: PolicyLimits;
  readonly pins: ReadonlySet<number>;
  readonly exempt: Exemptions;
  readonly reason: string | undefined;
}

const RULES: Readonly<Record<string, (fit: Fit) => boolean>> = {
  "keeps the limit unless nothing is left to clip": ({ window, limits, pins, exempt }) =>
    exempt.limit || sumSlotTokens(window) <= limits.tokens - limits.system || isBare(window, pins),

  "keeps the number of messages, where that can be": ({ window, limits, said, pins, exempt }) => {
    if (exempt.limit || exempt.rebuilds || limits.messages === undefined) return true;
    const fixed = untouchable(window, pins);
    const isStuck = ({ seq, message }: Slot) => fixed.has(seq) || message.role === "system";
    return window.length <= limits.messages || orphansIn(said).size > 0 || window.some(isStuck);
  },

  "counts what it sends": ({ window }) => window.every(({ tokens, message }) => tokens === tokensOf(message)),

  "shows messages once and in order": ({ window }) => {
    const seqs = window.filter(({ isNote }) => !isNote).map(({ seq }) => seq);
    return seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] as number));
  },

  "makes no orphan": ({ window, said }) => {
    if (reusesIds(said)) return true;
    const known = orphansIn(said);
    return [...orphansIn(window)].every((orphan) => known.has(orphan));
  },

  "touches nothing that is protected": ({ before, window, limits, pins, exempt, said }) => {
    // With a repeated id, a rebuild cannot tell which of its calls an evicted result answered.
    if (exempt.rebuilds && reusesIds(said)) return true;
    const asSaid = new Map(said.map((slot) => [slot.seq, slot]));
    const fixed = untouchable(before, pins);
    const spared = before.filter(({ seq, isNote }) => fixed.has(seq) && !isNote);
    const system = before.filter(({ message }) => message.role === "system");
    const staying = [...tiedTo(new Set([...spared, ...system]), before)];
    const whole = exempt.rebuilds ? staying.map((slot) => asSaid.get(slot.seq) ?? slot) : staying;
    const lost = withoutCall(before);
    // A result shown as text needs an extra notice.
    if (sumSlotTokens(whole) + lost.size * 10 > limits.tokens - limits.system) return true;
    return spared.every((slot) => {
      const found = window.find(({ seq, isNote }) => seq === slot.seq && !isNote);
      const shown = found?.message;
      if (!shown) return false;
      // Results are shortened when they first appear, pinned ones never.
      if (isShrunk(found) && !pins.has(slot.seq)) return true;
      return isSame(shown, slot.message) || shown === asSaid.get(slot.seq)?.message || lost.has(slot.seq);
    });
  },

  "leaves what it does not edit the very same": ({ before, window, exempt, reason }) => {
    if (exempt.rebuilds && reason !== undefined) return true;
    const known = new Map(before.filter(({ isNote }) => !isNote).map((slot) => [slot.seq, slot]));
    return window.every((slot) => {
      const old = slot.isNote ? undefined : known.get(slot.seq);
      return !old || old.message === slot.message || !isSame(old.message, slot.message);
    });
  },

  "changes no reasoning": ({ window, said }) => {
    const known = new Set<Part>(said.flatMap(({ message }) => message.parts.filter(isReasoning)));
    return window.every(({ message }) =>
      message.parts.every((part) => !isReasoning(part) || known.has(part)),
    );
  },

  "changes no role": ({ window, before, said }) => {
    const lost = withoutCall(before);
    const roles = new Map(said.map(({ seq, message }) => [seq, message.role]));
    return window.every(({ seq, isNote, message, original }) => {
      const isWords = lost.has(seq) || original?.role === "tool";
      return isNote || roles.get(seq) === message.role || (isWords && message.role === "user");
    });
  },

  "puts no note into a group": ({ window, said }) => {
    const groupOf = new Map<number, number>();
    for (const [group, { from, to }] of groupSlots(said).entries())
      for (const { seq } of said.slice(from, to + 1)) groupOf.set(seq, group);
    return window.every(({ isNote }, index) => {
      const around = [window[index - 1], window[index + 1]].map((slot) => slot && groupOf.get(slot.seq));
      return !isNote || around[0] === undefined || around[0] !== around[1];
    });
  },

  "gives a reason where it changed what it was given, and only there": ({
    before,
    window,
    reason,
    exempt,
  }) => {
    if (exempt.rebuilds) return true;
    const isChanged = before.some((slot, index) => window[index]?.message !== slot.message);
    return isChanged === (reason !== undefined);
  },
};

function isSame(one: Message, other: Message): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function isReasoning(part: Part): boolean {
  return part.type === "reasoning" || (part.type === "blob" && part.of === "reasoning");
}
