CREATE TABLE "payments"."returned_transfers" (
	"name" text PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"deed_id" uuid NOT NULL,
	"counted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "returned_transfers_payment" ON "payments"."returned_transfers" USING btree ("payment_id");