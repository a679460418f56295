# This prints everything in flight, then the newest items. Poll every second or two while something is in flight.
curl -sS "$BASE_URL/me/activity?limit=20" -H "Authorization: $SESSION" \
  | jq '{ inFlight: [.inFlight[] | {id, kind, status}], items: [.items[] | {id, kind, status}] }'
