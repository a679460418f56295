DROP INDEX "gateway"."identities_awaited";--> statement-breakpoint
CREATE INDEX "identities_failed" ON "gateway"."identities" USING btree ("failed_at") WHERE "gateway"."identities"."failed_at" is not null;--> statement-breakpoint
CREATE INDEX "identity_rechecks_unanswered" ON "gateway"."identity_rechecks" USING btree ("failures") WHERE "gateway"."identity_rechecks"."failures" > 0;--> statement-breakpoint
CREATE INDEX "dead_letter_open" ON "gateway"."dead_letter" USING btree ("consumer") WHERE "gateway"."dead_letter"."redriven_at" is null;--> statement-breakpoint
CREATE INDEX "inbox_done" ON "gateway"."inbox" USING btree ("consumer","done_at") WHERE "gateway"."inbox"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "outbox_published" ON "gateway"."outbox" USING btree ("published_at") WHERE "gateway"."outbox"."published_at" is not null;--> statement-breakpoint
CREATE INDEX "identities_awaited" ON "gateway"."identities" USING btree ("sweep_at") WHERE "gateway"."identities"."sweep_at" is not null;