// An event with its place in the log: what the context is built from. A whole checkpoint fits.
import type { Checkpoint } from "../checkpoint.ts";

export type LoggedEvent = Pick<Checkpoint, "version" | "event">;
