CREATE TABLE "payouts"."reservations" (
	"quote_id" text PRIMARY KEY NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "reservations_until" ON "payouts"."reservations" USING btree ("until");