import { z } from "zod";

/** The reply of every tool: text for a model, with the cursor of the next page where there is one. */
export const textOutput = z.object({ text: z.string() });
export const pageOutput = z.object({ text: z.string(), next: z.string().optional() });

export const whereSchema = z.enum(["project", "everywhere"]).optional();
export const cursorSchema = z.string().max(100).optional();
export const sessionNameSchema = z.string().min(1).max(1_000);
