ALTER TABLE "books"."provider_moves" ADD COLUMN "unsettled_read_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "books"."provider_moves" ADD COLUMN "settles_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "books"."provider_moves" ADD COLUMN "settled_read_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "provider_moves_unsettled" ON "books"."provider_moves" USING btree ("settled_read_at") WHERE "books"."provider_moves"."type" = 'payment' and "books"."provider_moves"."unsettled_read_at" is not null;