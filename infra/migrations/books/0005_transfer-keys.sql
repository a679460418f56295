-- The key of a signed transfer has its amount. Names of cash-outs are read again from their rows.
UPDATE "books"."chain_moves" SET "key" = "key" || ':' || "ausd_micro" WHERE "key" LIKE '%:%';--> statement-breakpoint
UPDATE "books"."names" n SET "key" = n."key" || ':' || m."ausd_micro" FROM "books"."chain_moves" m
  WHERE n."kind" = 'giveback' AND n."item" = m."tx_hash" || ':' || m."log_index";--> statement-breakpoint
DELETE FROM "books"."names" WHERE "kind" IN ('take', 'return');--> statement-breakpoint
DELETE FROM "books"."checkpoints" WHERE "source" = 'names:payouts';
