// What may stand in a request, shared by the routes. Everything is bounded here, since names become parts of keys.
import { z } from "@hono/zod-openapi";

/** A name becomes a part of a partition key, where each byte may take three (DynamoDB: 2,048 bytes). */
const maxNameBytes = 512;

/** Not empty, well-formed, no control characters, at most 512 bytes. */
export function isName(text: string): boolean {
  return text !== "" && text.isWellFormed() && !/\p{Cc}/u.test(text) && Buffer.byteLength(text) <= maxNameBytes;
}

export const name = z.string().min(1).refine(isName, "at most 512 bytes of text without control characters");

/** Text for people or the model. */
export const wellFormed = z.string().refine((text) => text.isWellFormed(), "holds half of a surrogate pair");
export const text = wellFormed.refine((value) => value.trim() !== "", "must not be blank");

/** A whole number in a query string. */
export function queryInteger(range: { min: number; max: number }) {
  return z
    .string()
    .regex(/^\d{1,12}$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= range.min && value <= range.max, `must be from ${range.min} to ${range.max}`)
    .openapi({ type: "integer", minimum: range.min, maximum: range.max });
}

export const pageLimit = queryInteger({ min: 1, max: 200 }).optional();
export const cursor = z.string().min(1).max(4096);
/** A session's id. Whatever does not look like one is answered as an unknown one. */
export const sessionParam = z.object({ id: z.string().openapi({ example: "20260505_143022_a1b2c3d4" }) });

export const versionNumber = queryInteger({ min: 0, max: 999_999_999_999 });
