// The part of a screen's state that stands in the address, so that a link to it can be sent.

import { useLocation } from "preact-iso";

export type Query = Record<string, string>;

/** The query of the address, and how to change some of it. What is empty is left out. */
export function useQuery(): [Query, (changes: Query) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Query) => {
    const kept = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== "");
    const text = new URLSearchParams(kept).toString();
    route(text === "" ? path : `${path}?${text}`, true);
  };
  return [query, change];
}
