// Changing a snapshot without touching the old one: the open turn, and leaving a field out.
import { ImpossibleTransition } from "../errors.ts";
import type { SessionState, TurnState } from "../state.ts";

export function withTurn(state: SessionState, change: (turn: TurnState) => TurnState): SessionState {
  return { ...state, turn: change(openTurn(state)) };
}

export function openTurn(state: SessionState): TurnState {
  if (!state.turn) throw new ImpossibleTransition("no turn is open");
  return state.turn;
}

export function without<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> & Partial<Pick<T, K>> {
  const { [key]: _, ...rest } = value;
  return rest as Omit<T, K> & Partial<Pick<T, K>>;
}
