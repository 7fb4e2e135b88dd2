import { z } from "zod";
import { about } from "../core/named-schema.ts";
import { openOwn } from "../core/own-sessions.ts";
import { type ApiRoute, defineRoute } from "../core/route.ts";
import { sessionParams } from "../schemas/common-schemas.ts";
import { curveSchema } from "../schemas/curve-schemas.ts";
import { queryNumber } from "../schemas/query-values.ts";
import { placeEdits, readRequestPoints, thinPoints } from "../spending/session-curve.ts";

const MAX_POINTS = 100_000;
const USUAL_POINTS = 20_000;
const MAX_EDITS = 10_000;

const getCurve = defineRoute(
  {
    id: "getCurve",
    method: "GET",
    path: "/sessions/{session}/curve",
    tag: "Window",
    summary: "Show the size of the window and its cached share over a conversation, with every edit",
    description:
      "For a chart: parallel lists with one point per request, and the edits with the main figures of their receipts. GET /sessions/{session}/receipts/{overlay} returns a whole receipt. The newest 10,000 edits are returned.",
    params: sessionParams,
    query: z.strictObject({
      points: about(
        queryNumber(100, MAX_POINTS).default(USUAL_POINTS),
        "Maximum number of points; of a longer conversation the largest window of each stretch is returned.",
      ),
    }),
    reply: curveSchema,
    errors: ["SESSION_NOT_FOUND"],
  },
  async ({ services: { kernel }, caller, params, query, signal }) => {
    await using session = await openOwn(kernel, caller, params.session);
    const all = await readRequestPoints(session, (id) => kernel.modelFacts(id), signal);
    const { points, stretch } = thinPoints(all, query.points);
    const overlays = await session.overlays.list(MAX_EDITS);
    return {
      session: session.id,
      requests: all.length,
      stretch,
      seqs: points.map(({ seq }) => seq),
      times: points.map(({ at }) => at),
      tokens: points.map(({ tokens }) => tokens),
      cacheShares: points.map(({ cacheShare }) => cacheShare),
      costs: points.map(({ cost }) => cost),
      edits: placeEdits(overlays.toReversed(), points),
    };
  },
);

export const CURVE_ROUTES = [getCurve] as const satisfies readonly ApiRoute[];
