ALTER TABLE "indexer_reader"."cursors" ADD COLUMN "sequence" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "indexer_reader"."cursors" ADD COLUMN "complete" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "indexer_reader"."cycles" ADD COLUMN "due_at_seconds" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "indexer_reader"."cycles" ADD COLUMN "dated_at_seconds" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "indexer_reader"."cursors" DROP COLUMN "confirmed_to";--> statement-breakpoint
ALTER TABLE "indexer_reader"."cursors" DROP COLUMN "event_count";