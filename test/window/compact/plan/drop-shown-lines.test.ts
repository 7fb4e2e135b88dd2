import { describe, expect, test } from "vitest";
import type { Slot } from "../../../../src/kernel/faces/window.ts";
import { dropShownLines } from "../../../../src/window/compact/summarizing-policy.ts";

function toSlot(seq: number, text: string, isNote = false): Slot {
  return {
    seq,
    at: seq,
    tokens: text.length,
    message: { role: "user", parts: [{ type: "text", text }] },
    ...(isNote && { isNote }),
  };
}

const SUMMARY = `## Previous Conversation
- #3 user: "Why is the coupon lost when a cart is saved?"
- #9 user: "And keep the table … of all prices"
## Relevant Files and Code
- #12 src/cart.ts: read ×2
- #14 src/price.ts: changed ×1
<quoted-data mark="1">
[#12 Read src/cart.ts]
| const coupon = cart.coupon ?? undefined;
</quoted-data mark="1">
## Open Questions
None.
## Exact Identifiers
- saveCart, applyCoupon, PriceTable`;

describe("a summary next to a window", () => {
  test("a summary leaves out the lines that the window shows", () => {
    const window = [
      toSlot(3, "Why is the coupon lost\nwhen a cart is saved?"),
      toSlot(13, "src/cart.ts calls saveCart"),
    ];
    expect(dropShownLines(SUMMARY, window)).toBe(`## Previous Conversation
- #9 user: "And keep the table … of all prices"
## Relevant Files and Code
- #14 src/price.ts: changed ×1
<quoted-data mark="1">
[#12 Read src/cart.ts]
| const coupon = cart.coupon ?? undefined;
</quoted-data mark="1">
## Exact Identifiers
- applyCoupon, PriceTable`);
  });

  test("a summary is empty if the window shows everything", () => {
    const whole = `Why is the coupon lost when a cart is saved? And keep the table of all prices. src/cart.ts src/price.ts
      const coupon = cart.coupon ?? undefined; saveCart applyCoupon PriceTable`;
    expect(dropShownLines(SUMMARY, [toSlot(1, whole)])).toBe("");
    expect(dropShownLines("", [])).toBe("");
  });
});
